import { z } from "zod";
import { cleanText } from "./text.ts";

/** First part of `provider/model`. Immutable; `demo` is built in, the other reserved names come from the environment. */
const providerName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, "must be 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit");

/** http or https, no user, password, query or fragment. The path is the API's root, for example `http://127.0.0.1:11434/v1`. */
const baseUrl = cleanText(2_000).refine((text) => {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (url.protocol === "http:" || url.protocol === "https:") && !url.username && !url.password && !url.search && !url.hash;
}, "must be an http or https URL without user, query or fragment");

const apiKey = cleanText(4_000)
  .min(1)
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

/** Body of `POST /providers`. */
export const createProviderBody = z.strictObject({
  name: providerName,
  kind: z.enum(["openai-compatible"]),
  base_url: baseUrl,
  api_key: apiKey.optional(),
});

/** Body of `PATCH /providers/:provider_id`; `api_key: null` removes the key. */
export const updateProviderBody = z.strictObject({
  base_url: baseUrl.optional(),
  api_key: apiKey.nullable().optional(),
});

export const provider = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  base_url: z.string().nullable(),
  /** Last four characters of the key, or null without one. */
  api_key_last4: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Provider = z.infer<typeof provider>;

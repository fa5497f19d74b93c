import { z } from "zod";
import { cleanText } from "./text.ts";

/**
 * What a provider speaks. `openai` is its responses API, `openai-chat` its chat completions; `openai-compatible` is any other server
 * that speaks chat completions.
 */
export const providerKind = z.enum([
  "openai",
  "openai-chat",
  "anthropic",
  "google",
  "openai-compatible",
]);
export type ProviderKind = z.infer<typeof providerKind>;

/** Where the API of a kind is, unless a provider says otherwise. */
export const defaultBaseUrls: Readonly<Record<Exclude<ProviderKind, "openai-compatible">, string>> =
  {
    openai: "https://api.openai.com/v1",
    "openai-chat": "https://api.openai.com/v1",
    anthropic: "https://api.anthropic.com/v1",
    google: "https://generativelanguage.googleapis.com/v1beta",
  };

/** First part of `provider/model`. Immutable; `demo` is built in. A name of the operator's provider may be taken: it then means this one. */
const providerName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    "must be 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit",
  );

/** http or https, no user, password, query or fragment. The path is the API's root, for example `http://127.0.0.1:11434/v1`. */
const baseUrl = cleanText(2_000).refine((text) => {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    (url.protocol === "http:" || url.protocol === "https:") &&
    !url.username &&
    !url.password &&
    !url.search &&
    !url.hash
  );
}, "must be an http or https URL without user, query or fragment");

const apiKey = cleanText(4_000)
  .min(1)
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

/** Body of `POST /providers`. `base_url` is needed for `openai-compatible` and may be given for the others, which have one of their own. */
export const createProviderBody = z
  .strictObject({
    name: providerName,
    kind: providerKind,
    base_url: baseUrl.optional(),
    api_key: apiKey.optional(),
  })
  .refine(({ kind, base_url }) => kind !== "openai-compatible" || base_url !== undefined, {
    path: ["base_url"],
    error:
      "is needed for openai-compatible: the root of the API, for example http://127.0.0.1:11434/v1",
  })
  .refine(
    ({ kind, base_url, api_key }) =>
      kind === "openai-compatible" || base_url !== undefined || api_key !== undefined,
    {
      path: ["api_key"],
      error: "is needed: the provider answers nobody without one",
    },
  );

/**
 * Body of `PATCH /providers/:provider_id`. null removes the key, or goes back to the kind's own base URL. With a stored key, a
 * `base_url` of another origin needs `api_key` beside it.
 */
export const updateProviderBody = z.strictObject({
  base_url: baseUrl.nullable().optional(),
  api_key: apiKey.nullable().optional(),
});

/** A provider of models as responses show it, without its key. */
export const provider = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  /** null: the kind's own. */
  base_url: z.string().nullable(),
  /** Last four characters of the key, or null without one. */
  api_key_last4: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Provider = z.infer<typeof provider>;

/** Answer of `POST /providers/:provider_id/check`: what the provider says when it is asked for its models with this key. */
export const providerCheck = z.object({
  works: z.boolean(),
  /** Names for the second part of `provider/model`, at most 200. Not every one of them need be a model that speaks. */
  models: z.array(z.string()),
  /** Why it does not work. */
  error: z.string().nullable(),
});
export type ProviderCheck = z.infer<typeof providerCheck>;

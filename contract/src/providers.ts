import { z } from "zod";
import { cleanText } from "./text.ts";

/**
 * The API of a provider. `openai` is OpenAI's Responses API, `openai-chat` its Chat Completions
 * API, `openai-compatible` any other server with a Chat Completions API.
 */
export const providerKind = z.enum([
  "openai",
  "openai-chat",
  "anthropic",
  "google",
  "openai-compatible",
]);
export type ProviderKind = z.infer<typeof providerKind>;

/** Default base URL of each kind. */
export const defaultBaseUrls: Readonly<Record<Exclude<ProviderKind, "openai-compatible">, string>> =
  {
    openai: "https://api.openai.com/v1",
    "openai-chat": "https://api.openai.com/v1",
    anthropic: "https://api.anthropic.com/v1",
    google: "https://generativelanguage.googleapis.com/v1beta",
  };

/**
 * The first part of `provider/model`. Immutable; `demo` is built in. A workspace's provider takes
 * precedence over the operator's provider of the same name.
 */
const providerName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    "must be 1 to 63 characters a-z 0-9 . _ - and start with a letter or digit",
  );

/** Root URL of the API, for example `http://127.0.0.1:11434/v1`. */
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
}, "must be an http or https URL without user, password, query or fragment");

const apiKey = cleanText(4_000)
  .min(1)
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

/** Body of `POST /providers`. `base_url` is required for `openai-compatible`, else optional. */
export const createProviderBody = z
  .strictObject({
    name: providerName,
    kind: providerKind,
    base_url: baseUrl.optional(),
    api_key: apiKey.optional(),
  })
  .refine(({ kind, base_url }) => kind !== "openai-compatible" || base_url !== undefined, {
    path: ["base_url"],
    error: "is required for openai-compatible, for example http://127.0.0.1:11434/v1",
  })
  .refine(
    ({ kind, base_url, api_key }) =>
      kind === "openai-compatible" || base_url !== undefined || api_key !== undefined,
    {
      path: ["api_key"],
      error: "is required: this provider rejects requests without a key",
    },
  );

/**
 * Body of `PATCH /providers/:provider_id`. null removes the key, or resets `base_url` to the kind's
 * default. If a key is stored, a `base_url` with another origin must be sent together with
 * `api_key`, so that the key is not sent to a host it was not meant for.
 */
export const updateProviderBody = z.strictObject({
  base_url: baseUrl.nullable().optional(),
  api_key: apiKey.nullable().optional(),
});

/** A model provider in responses, without its API key. */
export const provider = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  /** null: the kind's default. */
  base_url: z.string().nullable(),
  /** Last four characters of the key, or null without one. */
  api_key_last4: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Provider = z.infer<typeof provider>;

/** Response of `POST /providers/:provider_id/check`, which lists the models with the stored key. */
export const providerCheck = z.object({
  works: z.boolean(),
  /**
   * Names for the second part of `provider/model`, at most 200. They can include models that do not
   * generate text, such as embedding models.
   */
  models: z.array(z.string()),
  /** Why the check failed; null if it did not. */
  error: z.string().nullable(),
});
export type ProviderCheck = z.infer<typeof providerCheck>;

import { z } from "zod";
import { cleanText } from "./text.ts";

/**
 * The API of a provider. `openai` is OpenAI's responses API, `openai-chat` its chat completions;
 * `openai-compatible` is any other server with chat completions.
 */
export const providerKind = z.enum([
  "openai",
  "openai-chat",
  "anthropic",
  "google",
  "openai-compatible",
]);
export type ProviderKind = z.infer<typeof providerKind>;

/** The root of each kind's API, for providers without a `base_url`. */
export const defaultBaseUrls: Readonly<Record<Exclude<ProviderKind, "openai-compatible">, string>> =
  {
    openai: "https://api.openai.com/v1",
    "openai-chat": "https://api.openai.com/v1",
    anthropic: "https://api.anthropic.com/v1",
    google: "https://generativelanguage.googleapis.com/v1beta",
  };

/**
 * The provider's name: the first part of `provider/model`. It cannot be changed later, and cannot
 * be `demo`, the name of the built-in provider. If a workspace's provider has the same name as a
 * provider of the operator, the workspace's provider is used.
 */
const providerName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    "must be 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit",
  );

/**
 * http or https, without user, password, query and fragment. The path is the API's root, for
 * example `http://127.0.0.1:11434/v1`.
 */
export const baseUrl = cleanText(2_000).refine((text) => {
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

/**
 * Body of `POST /providers`. The kind `openai-compatible` needs `base_url`; the other kinds have a
 * default. The host of `base_url` must be public, or named by the setting BECKON_EGRESS_ALLOW.
 */
export const createProviderBody = z
  .strictObject({
    name: providerName,
    kind: providerKind,
    base_url: baseUrl.optional(),
    api_key: apiKey.optional(),
    /** Whether calls cost nothing. `true` needs the scope `limits:write`. */
    free: z.boolean().default(false),
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
      error: "is needed: the provider rejects requests without one",
    },
  );

/**
 * Body of `PATCH /providers/:provider_id`. `api_key: null` removes the key, and `base_url: null`
 * restores the default of the kind. If a key is stored, a `base_url` with another scheme, host or
 * port needs `api_key` in the same request, so that the stored key is not sent to another server.
 * To change `free`, or the `base_url` of a provider that is free or has prices, the scope
 * `limits:write` is needed too.
 */
export const updateProviderBody = z.strictObject({
  base_url: baseUrl.nullable().optional(),
  api_key: apiKey.nullable().optional(),
  free: z.boolean().optional(),
});

/**
 * Who set a provider up. `workspace` means members of the workspace, by `POST /providers`.
 * `environment` means the operator, who put the provider's key or URL into environment variables,
 * for example `OPENAI_API_KEY`. `discovered` means Beckon, which found a model server on its
 * machine. Providers with the last two values belong to the operator and cannot be changed through
 * the API.
 */
const providerOrigin = z.enum(["workspace", "environment", "discovered"]);

/** A provider of models as responses show it, without its key. */
export const provider = z.object({
  /** `prv_…`, or `env_<name>` for a provider of the operator. */
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  origin: providerOrigin,
  /**
   * null if the kind's default URL is used. Only owners of the workspace `default` see the URL of a
   * provider of the operator; in responses to others it is null.
   */
  base_url: z.string().nullable(),
  /**
   * Last four characters of the key; empty for a key under 12 characters; null if there is no key
   * or the provider is the operator's.
   */
  api_key_last4: z.string().nullable(),
  /**
   * Whether members marked the provider as free: calls of its models cost nothing, unless the
   * workspace has set a price. Always false for a provider of the operator, which members cannot
   * mark.
   */
  free: z.boolean(),
  /** null for a provider of the operator. */
  created_at: z.iso.datetime().nullable(),
  /** null for a provider of the operator. */
  updated_at: z.iso.datetime().nullable(),
});
export type Provider = z.infer<typeof provider>;

/** Response of `POST /providers/:provider_id/check`, which tries to list the provider's models. */
export const providerCheck = z.object({
  works: z.boolean(),
  /**
   * Names for the second part of `provider/model`, at most 1,000, and 40,000 characters. Some
   * models can be for other uses than agents, for example embeddings.
   */
  models: z.array(z.string()),
  /** Why the provider does not work or cannot be checked; null if it works. */
  error: z.string().nullable(),
});
export type ProviderCheck = z.infer<typeof providerCheck>;

/** An item of `GET /models`: the models of one provider. */
export const modelList = z.object({
  /** The provider's name, which is the first part of `provider/model`. */
  provider: z.string(),
  /** null for the built-in provider. */
  provider_id: z.string().nullable(),
  origin: z.enum([...providerOrigin.options, "built_in"]),
  /** Values for an agent's `model`, as `provider/model`, at most 1,000. */
  models: z.array(z.string()),
  /**
   * Why the models could not be listed; null if they were. Agents can use the provider's models
   * even if this list has an error.
   */
  error: z.string().nullable(),
});
export type ModelList = z.infer<typeof modelList>;

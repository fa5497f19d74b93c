import type { Provider, UpdateProviderBody } from "@beckon/client";
import { updateProviderBody } from "@beckon/contract";
import type { FieldErrors, Resolver } from "react-hook-form";
import { wording } from "../../data/index.ts";
import { defaultBaseUrl } from "./provider-fields.ts";

/** Fields of the form that changes a provider. */
export interface EditFields {
  /** If empty, the provider uses the default base URL of its kind. */
  base_url: string;
  /** If empty, the stored key is kept unless `removesKey` is true. */
  api_key: string;
  removesKey: boolean;
  /** Whether calls cost nothing. */
  free: boolean;
}

/** Returns the body of the request that updates the provider. It has only the changed fields. */
export function changesFor(provider: Provider, fields: EditFields): UpdateProviderBody {
  const address = fields.base_url.trim();
  const key = fields.api_key.trim();
  return {
    ...(address === (provider.base_url ?? "") ? {} : { base_url: address === "" ? null : address }),
    ...(fields.removesKey ? { api_key: null } : key === "" ? {} : { api_key: key }),
    ...(fields.free === provider.free ? {} : { free: fields.free }),
  };
}

/** Returns a resolver that checks the form as the API will check the request. */
export function editResolver(provider: Provider): Resolver<EditFields> {
  return (fields) => {
    const errors: FieldErrors<EditFields> = {};
    const { error } = updateProviderBody.safeParse(changesFor(provider, fields), {
      error: wording,
    });
    for (const { path, message } of error?.issues ?? [])
      errors[path[0] === "api_key" ? "api_key" : "base_url"] ??= { type: "schema", message };
    if (fields.base_url.trim() === "" && defaultBaseUrl(provider.kind) === undefined)
      errors.base_url = {
        type: "schema",
        message: "Enter the root of the API, for example http://127.0.0.1:11434/v1.",
      };
    return Object.keys(errors).length === 0
      ? { values: fields, errors: {} }
      : { values: {}, errors };
  };
}

/**
 * Returns whether the address has another scheme, host or port than the provider's base URL. An
 * empty address stands for the default of the kind. False while the address is not a valid URL.
 */
export function hasOtherOrigin(provider: Provider, address: string): boolean {
  const [before, after] = [provider.base_url, address.trim()].map((url) =>
    originOf(url || defaultBaseUrl(provider.kind)),
  );
  return after !== undefined && before !== after;
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

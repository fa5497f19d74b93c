import { createProviderBody, defaultBaseUrls, type ProviderKind } from "@beckon/contract";
import type { FieldErrors, Resolver } from "react-hook-form";
import { wording } from "../../data/index.ts";
import type { ProviderPreset } from "./presets.ts";

/** Fields of the form of a new provider, named as in the API. */
export interface ProviderFields {
  name: string;
  kind: ProviderKind;
  base_url: string;
  api_key: string;
  /** Whether calls cost nothing. */
  free: boolean;
}

type TextField = Exclude<keyof ProviderFields, "free">;

/** For each text field of the API, the form field from which its value comes. */
export const sources: Readonly<Record<string, TextField>> = {
  name: "name",
  kind: "kind",
  base_url: "base_url",
  api_key: "api_key",
};

/** Returns the values that a preset fills in. */
export function fieldsOf({ name, kind, baseUrl }: ProviderPreset): Omit<ProviderFields, "api_key"> {
  return { name, kind, base_url: baseUrl, free: false };
}

/** Returns the body of the request that creates the provider. Empty fields are left out. */
export function bodyOf({ name, kind, base_url: address, api_key: key, free }: ProviderFields) {
  return {
    name: name.trim(),
    kind,
    ...(address.trim() === "" ? {} : { base_url: address.trim() }),
    ...(key.trim() === "" ? {} : { api_key: key.trim() }),
    ...(free ? { free } : {}),
  };
}

/** A resolver that checks the form as the API will check the request. */
export const providerResolver: Resolver<ProviderFields> = (fields) => {
  const { error } = createProviderBody.safeParse(bodyOf(fields), { error: wording });
  if (error === undefined) return { values: fields, errors: {} };
  const errors: FieldErrors<ProviderFields> = {};
  for (const { path, message } of error.issues) {
    const name = sources[String(path[0])] ?? "name";
    errors[name] ??= { type: "schema", message: messageFor(name, fields, message) };
  }
  return { values: {}, errors };
};

/** Returns the message for a field's error. For an empty field it says what to enter. */
function messageFor(name: TextField, fields: ProviderFields, message: string): string {
  if (fields[name].trim() !== "") return message;
  if (name === "api_key") return "Enter the key. The provider rejects requests without one.";
  if (name === "base_url")
    return "Enter the root of the API, for example http://127.0.0.1:11434/v1.";
  return "Enter a name, for example openai.";
}

/** Returns the default base URL of a kind; undefined if it has none. */
export function defaultBaseUrl(kind: string): string | undefined {
  return Object.hasOwn(defaultBaseUrls, kind)
    ? defaultBaseUrls[kind as keyof typeof defaultBaseUrls]
    : undefined;
}

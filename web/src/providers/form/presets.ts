import type { ProviderKind } from "@beckon/contract";

/** The values with which the form of a new provider is filled in. */
export interface ProviderPreset {
  readonly id: string;
  readonly label: string;
  readonly name: string;
  readonly kind: ProviderKind;
  /** The base URL; empty for the default of the kind. */
  readonly baseUrl: string;
  /**
   * The vendor's page on which a person creates a key; undefined for servers that usually need no
   * key.
   */
  readonly keysPage?: string;
  /**
   * Name of the provider that Beckon offers if it finds this model server on the machine on which
   * Beckon runs; undefined if Beckon does not search for this server.
   */
  readonly discovered?: string;
}

const compatible = { kind: "openai-compatible" } as const;

const first: ProviderPreset = {
  id: "openai",
  label: "OpenAI",
  name: "openai",
  kind: "openai",
  baseUrl: "",
  keysPage: "https://platform.openai.com/api-keys",
};

/** The presets: accounts of vendors first, then servers that people run themselves. */
export const presets: readonly ProviderPreset[] = [
  first,
  {
    id: "anthropic",
    label: "Anthropic",
    name: "anthropic",
    kind: "anthropic",
    baseUrl: "",
    keysPage: "https://console.anthropic.com/settings/keys",
  },
  {
    id: "google",
    label: "Google",
    name: "google",
    kind: "google",
    baseUrl: "",
    keysPage: "https://aistudio.google.com/apikey",
  },
  {
    id: "openrouter",
    label: "OpenRouter",
    name: "openrouter",
    ...compatible,
    baseUrl: "https://openrouter.ai/api/v1",
    keysPage: "https://openrouter.ai/settings/keys",
  },
  {
    id: "ollama",
    label: "Ollama",
    name: "ollama",
    ...compatible,
    baseUrl: "http://127.0.0.1:11434/v1",
    discovered: "ollama",
  },
  {
    id: "lmstudio",
    label: "LM Studio",
    name: "lmstudio",
    ...compatible,
    baseUrl: "http://127.0.0.1:1234/v1",
    discovered: "lmstudio",
  },
  {
    id: "llamacpp",
    label: "llama.cpp",
    name: "llamacpp",
    ...compatible,
    baseUrl: "http://127.0.0.1:8080/v1",
    discovered: "llamacpp",
  },
  {
    id: "vllm",
    label: "vLLM",
    name: "vllm",
    ...compatible,
    baseUrl: "http://127.0.0.1:8000/v1",
    discovered: "vllm",
  },
  { id: "other", label: "Another server", name: "", ...compatible, baseUrl: "" },
];

/** Returns the preset with this id; the first one for an unknown id. */
export function presetOf(id: string | undefined): ProviderPreset {
  return presets.find((preset) => preset.id === id) ?? first;
}

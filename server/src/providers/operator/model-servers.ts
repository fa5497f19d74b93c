/** A program that serves models on this machine. */
export interface ModelServer {
  /** The part of `provider/model` before the slash. */
  readonly name: string;
  /** The port on 127.0.0.1 that is probed. */
  readonly port: number;
  /** A sentence, without a full stop, that says how to start the server. */
  readonly start: string;
}

/** The model servers that are probed, at their default ports. */
export const modelServers: readonly ModelServer[] = [
  { name: "ollama", port: 11434, start: "Start Ollama (ollama serve)" },
  { name: "lmstudio", port: 1234, start: "Start LM Studio's server (lms server start)" },
  { name: "llamacpp", port: 8080, start: "Start llama.cpp (llama-server)" },
  { name: "vllm", port: 8000, start: "Start vLLM (vllm serve)" },
];

import { ConfigError, messageOf } from "./errors.ts";

/**
 * Returns the error for an address that the server cannot listen on. Its message names the setting
 * to change.
 */
export function listenError(
  thrown: unknown,
  { host, port }: { host: string; port: number },
): ConfigError {
  const code =
    thrown instanceof Error && "code" in thrown ? String(thrown.code) : messageOf(thrown);
  const remedy =
    code === "EADDRINUSE"
      ? "Something else listens there: stop it, or set PORT to another port."
      : "Set HOST and PORT to an address of this machine.";
  return new ConfigError(`Beckon cannot listen on ${host}:${port} (${code}). ${remedy}`);
}

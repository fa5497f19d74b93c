import { ConfigError, messageOf } from "./errors.ts";

/**
 * Returns the error for an address that the server cannot listen on. Its message names the setting
 * to change.
 * @param settings the names of the two settings that the message can name.
 */
export function listenError(
  thrown: unknown,
  { host, port }: { host: string; port: number },
  settings: { readonly host: string; readonly port: string } = { host: "HOST", port: "PORT" },
): ConfigError {
  const code =
    thrown instanceof Error && "code" in thrown ? String(thrown.code) : messageOf(thrown);
  const remedy =
    code === "EADDRINUSE"
      ? `Something else listens there: stop it, or set ${settings.port} to another port.`
      : `Set ${settings.host} and ${settings.port} to an address of this machine.`;
  return new ConfigError(`Beckon cannot listen on ${host}:${port} (${code}). ${remedy}`);
}

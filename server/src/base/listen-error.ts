import { ConfigError, messageOf } from "./errors.ts";
import { exitCodes } from "./exit-codes.ts";

/**
 * The machine does not have the address to listen on, or its name cannot be looked up now. The
 * setting can be right: the address of a VPN or of keepalived can come up after Beckon starts. So
 * the exit code is one after which systemd starts Beckon again.
 */
export class AddressUnavailableError extends ConfigError {
  override readonly exitCode = exitCodes.addressUnavailable;
}

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
  const what = `Beckon cannot listen on ${host}:${port} (${code}).`;
  const remedy = `Set ${settings.host} and ${settings.port} to an address of this machine`;
  switch (code) {
    case "EADDRINUSE":
      return new ConfigError(
        `${what} Something else listens there: stop it, or set ${settings.port} to another port.`,
      );
    case "EACCES":
      // On Linux, ports below `net.ipv4.ip_unprivileged_port_start`, 1024 by default.
      return new ConfigError(
        `${what} This user is not allowed to use the port. Set ${settings.port} to 1024 or ` +
          "higher, and put a proxy in front for a lower one.",
      );
    case "EADDRNOTAVAIL":
    case "EAI_AGAIN":
      return new AddressUnavailableError(
        `${what} ${remedy}, or start again once this one is available.`,
      );
    default:
      return new ConfigError(`${what} ${remedy}.`);
  }
}

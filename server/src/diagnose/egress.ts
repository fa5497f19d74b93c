import { connect } from "node:net";
import type { Config } from "../config.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

const connectTimeoutMs = 3_000;

/** Variables of other programs that name a proxy. Beckon does not read them. */
const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"];

/** Connects to each address in BECKON_EGRESS_ALLOW, and warns if `env` names a proxy. */
export async function checkEgress(
  { egressAllow }: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding[]> {
  const proxy = proxyVariables.find((name) => env[name]);
  const findings =
    egressAllow.length === 0
      ? [
          skipped(
            "egress",
            "BECKON_EGRESS_ALLOW is empty: agents reach public addresses only, and no private one.",
          ),
        ]
      : await Promise.all(egressAllow.map(checkAllowed));
  if (proxy === undefined) return findings;
  return [
    ...findings,
    warning(
      "egress",
      `${proxy} is set. Beckon ignores it and connects directly, because a proxy would resolve ` +
        "names without Beckon's check.",
      "Allow direct connections to providers and tools, or set OPENAI_BASE_URL or " +
        "ANTHROPIC_BASE_URL to a gateway.",
    ),
  ];
}

async function checkAllowed(hostPort: string): Promise<Finding> {
  const { hostname, port } = new URL(`tcp://${hostPort}`);
  const failure = await tryConnect(hostname.replace(/^\[|\]$/g, ""), Number(port));
  if (failure === undefined) return ok("egress", `${hostPort} accepts connections.`);
  return problem("egress", {
    message: `${hostPort} of BECKON_EGRESS_ALLOW cannot be reached (${failure}).`,
    remedy: "Start the server there, allow the connection in the firewall, or remove the entry.",
  });
}

/** Opens a TCP connection and closes it. Resolves with an error code; undefined if it succeeds. */
function tryConnect(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: connectTimeoutMs });
    const end = (failure: string | undefined) => {
      socket.destroy();
      resolve(failure);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end("ETIMEDOUT"));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

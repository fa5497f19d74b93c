import type { ChildProcess } from "node:child_process";
import { elapsed } from "../base/clock.ts";
import type { Ping } from "./messages.ts";

/** Number of pings in a row, without a reply, after which a server counts as hanging. */
const maxUnanswered = 12;

export interface ServerWatch {
  /** Must be called when the server has replied to a ping. */
  replied(): void;
  stop(): void;
}

/**
 * Pings a server, and calls `onHang` once if it does not reply for `maxSilentMs`. A server whose
 * event loop is blocked executes nothing more, but does not exit.
 *
 * Pings count only while this process runs on time. After a suspension, of this process or of the
 * machine, the server may not have had time to reply, so all earlier pings are forgotten.
 */
export function watchServer(
  child: Pick<ChildProcess, "connected" | "send">,
  {
    maxSilentMs,
    onHang,
    now = elapsed,
  }: {
    readonly maxSilentMs: number;
    readonly onHang: () => void;
    /** Default: the clock of this process. */
    readonly now?: () => number;
  },
): ServerWatch {
  const intervalMs = maxSilentMs / maxUnanswered;
  let unanswered = 0;
  let checkedAt = now();
  const check = () => {
    const isLate = now() - checkedAt > 2 * intervalMs;
    checkedAt = now();
    if (isLate) unanswered = 0;
    if (unanswered === maxUnanswered) {
      clearInterval(timer);
      onHang();
      return;
    }
    unanswered++;
    if (child.connected) child.send({ type: "ping" } satisfies Ping, () => {});
  };
  const timer = setInterval(check, intervalMs);
  return {
    replied: () => {
      unanswered = 0;
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Returns whether flags of Node.js enable a debugger, under which a server stops at breakpoints.
 * Nothing else enables one, because servers are started with `--disable-sigusr1`.
 */
export function enablesDebugger(execArgv: readonly string[], nodeOptions = ""): boolean {
  return /(^|\s)--inspect/.test([...execArgv, nodeOptions].join(" "));
}

import type { BeckonClient } from "@beckon/client";
import type { Command } from "commander";
import { type ConnectionOptions, connect, withConnection } from "../connection.ts";
import { parseExactly } from "../exact-integers.ts";
import { exitCodes } from "../exit-codes.ts";
import { findAgentId } from "../find-agent.ts";
import { jsonPrinter, linePrinter, runPrinter } from "../print-events.ts";
import { reportWarning } from "../report-failure.ts";
import { Interrupted, type Terminal, UsageError } from "../terminal.ts";

interface Options extends ConnectionOptions {
  readonly agent?: string;
  readonly kind?: string;
  readonly after?: string;
}

/** Adds `beckon runs tail`. */
export function addRunsTail(
  runs: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  const command = runs
    .command("tail [run]")
    .summary("print the events of a run or of the workspace as they occur")
    .description(
      "Prints the events of a run, with the model's text, until the run ends. Without a run, " +
        "prints the events of all runs of the workspace until Ctrl-C, which exits with 0. " +
        "Reconnects if the connection is lost. Times are in UTC. With --json, each line is one event.",
    )
    .option("--agent <agent>", "only runs of this agent, an id or a name")
    .option("--kind <types>", "only these types of events, separated by commas")
    .option("--after <position>", "start after this seq of the run, or cursor of the workspace");
  withConnection(command).action(async (run: string | undefined, options: Options) => {
    const client = await connect(options, terminal);
    try {
      const tail = run === undefined ? tailWorkspace : tailRun(run);
      finish(await tail(client, options, terminal));
    } catch (thrown) {
      // Ctrl-C is the usual way to end a tail of the workspace, so it is not a failure. With a run,
      // 0 would say that the run succeeded.
      if (run !== undefined || !(thrown instanceof Interrupted)) throw thrown;
      finish(exitCodes.done);
    }
  });
}

type Tail = (client: BeckonClient, options: Options, terminal: Terminal) => Promise<number>;

function tailRun(runId: string): Tail {
  return async (client, { agent, kind, after, json = false }, terminal) => {
    if (agent !== undefined || kind !== undefined)
      throw new UsageError("--agent and --kind are for the events of a workspace. Omit the run.");
    const seq = Number(after ?? 0);
    if (!Number.isSafeInteger(seq) || seq < 0)
      throw new UsageError("--after must be the seq of an event, 0 or more.");
    // With a wrong address, `runs.watch` would try to connect for five minutes. `runs.get` fails
    // much sooner, also for a wrong key or id.
    const call = { signal: terminal.stopped };
    await client.runs.get(runId, call);
    const print = json ? jsonPrinter(terminal) : runPrinter(terminal);
    let last: string | undefined;
    const options = { after: seq, ...following(terminal, json) };
    for await (const event of client.runs.watch(runId, options)) {
      await print(event);
      last = event.type;
    }
    // If no event came, the run had already ended and `after` is its last event, so the status
    // shows whether it succeeded.
    const succeeded =
      last === undefined
        ? (await client.runs.get(runId, call)).status === "succeeded"
        : last === "run.finished";
    return succeeded ? exitCodes.done : exitCodes.failed;
  };
}

const tailWorkspace: Tail = async (client, { agent, kind, after, json = false }, terminal) => {
  const agentId =
    agent === undefined ? undefined : await findAgentId(client, agent, terminal.stopped);
  const filter = {
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(kind === undefined ? {} : { kind }),
  };
  const query = after === undefined ? filter : { ...filter, after };
  // With a wrong address, `events.watch` would try to connect for five minutes. `events.list` fails
  // much sooner, also for a wrong key or filter.
  await client.events.list({ ...query, limit: 1 }, { signal: terminal.stopped }).page();
  const print = json ? jsonPrinter(terminal) : linePrinter(terminal);
  const events = client.events.watch(query, following(terminal, json));
  for await (const event of events) await print(event);
  return exitCodes.done;
};

function following(terminal: Terminal, asJson: boolean) {
  let isLost = false;
  return {
    signal: terminal.stopped,
    onDisconnect: () => {
      if (!isLost) reportWarning("The connection is lost. Reconnecting.", terminal, asJson);
      isLost = true;
    },
    onActivity: () => {
      isLost = false;
    },
    parse: parseExactly,
  };
}

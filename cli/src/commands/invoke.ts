import type { Command } from "commander";
import { type ConnectionOptions, connect, withConnection } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { findAgentId } from "../find-agent.ts";
import {
  collect,
  explainStart,
  type Labels,
  printStarted,
  seconds,
  startOptions,
  withLabels,
} from "../labels.ts";
import { maxInputBytes, readInput } from "../read-text.ts";
import { shown, type Terminal, toJson, UsageError } from "../terminal.ts";

interface Options extends ConnectionOptions, Labels {
  readonly file?: string;
  readonly timeout?: number;
  /** Seconds; false with `--no-wait`. */
  readonly wait?: number | false;
}

/** A day. The client reduces it to 240 seconds; scripts can already have a longer time. */
const maxWaitSeconds = 86_400;

/** Adds `beckon invoke`. */
export function addInvoke(
  program: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  const command = program
    .command("invoke <agent> [input]")
    .summary("run an agent and print its output")
    .description(
      "Runs an agent and prints its output. The agent is an id or a name; a name needs a key with " +
        "the scope agents:read. Without an input argument, standard input is the input.",
    )
    .option("--file <file>", "read the input from a file, or - for standard input")
    .option(
      "--timeout <seconds>",
      "stop waiting after this time, at most 23 hours; the run continues",
      seconds(999_999),
    )
    .option(
      "--wait <seconds>",
      "how long one request waits, below the timeout of proxies; 50 if omitted, at most 240",
      seconds(maxWaitSeconds),
    )
    .option("--no-wait", "print the run's id and do not wait for its end");
  withConnection(withLabels(command, collect)).action(
    async (agent: string, argument: string | undefined, options: Options) => {
      const input = await readInput({ argument, file: options.file }, maxInputBytes, terminal);
      if (!input) {
        throw new UsageError(
          "There is no input, or it is empty. Give it as argument, by --file or by a pipe.",
        );
      }
      // The maximum is that of the request, and JSON adds quotes and escapes.
      const bytes = Buffer.byteLength(JSON.stringify({ input }));
      if (bytes > maxInputBytes) {
        throw new UsageError(
          `The input has ${bytes} bytes as JSON; the maximum is ${maxInputBytes}. Shorten it.`,
        );
      }
      const { timeout, wait, json } = options;
      if (wait === false && timeout !== undefined)
        throw new UsageError("--timeout cannot be used with --no-wait. Omit one of them.");
      const client = await connect(options, terminal, { startsRun: true });
      const agentId = await findAgentId(client, agent, terminal.stopped);
      const start = startOptions(options, terminal);
      if (wait === false) {
        const started = await client.agents
          .start(agentId, { input }, start)
          .catch(explainStart(start.idempotencyKey));
        const text = json ? toJson(started) : started.run_id;
        await printStarted(`${text}\n`, started.run_id, terminal);
      } else {
        let runId: string | undefined;
        const onStarted = (id: string) => {
          runId = id;
        };
        const timeoutMs = timeout === undefined ? undefined : timeout * 1_000;
        const run = await client.agents
          .invoke(agentId, { input }, { ...start, wait, timeout: timeoutMs, onStarted })
          .catch(explainStart(start.idempotencyKey, () => runId));
        const text = json ? toJson(run) : shown(run.output, terminal);
        await printStarted(`${text}\n`, run.run_id, terminal);
      }
      finish(exitCodes.done);
    },
  );
}

import { type Command, Option } from "commander";
import { type ConnectionOptions, connect, withConnection } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { findAgentId } from "../find-agent.ts";
import { collect, type Labels, runContinues, seconds, withLabels } from "../labels.ts";
import { maxInputBytes, readInput } from "../read-text.ts";
import { shown, type Terminal, toJson, UsageError } from "../terminal.ts";

interface Options extends ConnectionOptions, Labels {
  readonly file?: string;
  readonly timeout?: number;
  readonly wait: boolean;
}

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
    .addOption(
      new Option(
        "--timeout <seconds>",
        "stop waiting after this time, at most 23 hours; the run continues",
      )
        .argParser(seconds)
        .conflicts("wait"),
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
      const client = await connect(options, terminal);
      const agentId = await findAgentId(client, agent, terminal.stopped);
      const { idempotencyKey, externalId, tag: tags, callback, timeout, json } = options;
      const labels = { idempotencyKey, externalId, tags, callback, signal: terminal.stopped };
      if (!options.wait) {
        const started = await client.agents.start(agentId, { input }, labels).catch(runContinues);
        await terminal.out(`${json ? toJson(started) : started.run_id}\n`);
      } else {
        const timeoutMs = timeout === undefined ? undefined : timeout * 1_000;
        const run = await client.agents
          .invoke(agentId, { input }, { ...labels, timeout: timeoutMs })
          .catch(runContinues);
        await terminal.out(`${json ? toJson(run) : shown(run.output, terminal)}\n`);
      }
      finish(exitCodes.done);
    },
  );
}

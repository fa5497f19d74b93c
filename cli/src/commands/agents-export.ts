import type { Command } from "commander";
import { type ConnectionOptions, connect, withConnection } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { findAgentId } from "../find-agent.ts";
import { shown, type Terminal, toJson } from "../terminal.ts";

/** Adds `beckon agents export`. */
export function addAgentsExport(
  agents: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  const command = agents
    .command("export [agent]")
    .summary("print one agent or all agents as YAML")
    .description(
      "Prints one agent, by id or name, or all agents of the workspace, as YAML or with --json as " +
        "JSON. The file has no ids, tokens or secrets. `beckon agents apply` reads it.",
    );
  withConnection(command).action(async (agent: string | undefined, options: ConnectionOptions) => {
    const client = await connect(options, terminal);
    const call = { signal: terminal.stopped };
    const { json } = options;
    if (agent === undefined) {
      const text = json
        ? `${toJson(await client.agents.exportMany(call), 2)}\n`
        : await client.agents.exportManyYaml(call);
      await terminal.out(shown(text, terminal));
    } else {
      const id = await findAgentId(client, agent, terminal.stopped);
      const text = json
        ? `${toJson(await client.agents.export(id, call), 2)}\n`
        : await client.agents.exportYaml(id, call);
      await terminal.out(shown(text, terminal));
    }
    finish(exitCodes.done);
  });
}

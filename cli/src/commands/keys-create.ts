import { open, unlink } from "node:fs/promises";
import { BeckonError, type CreateKeyAnswer, type CreateKeyBody } from "@beckon/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type ConnectionOptions, connect, withConnection } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { findAgentId } from "../find-agent.ts";
import { collect } from "../labels.ts";
import { codeOf } from "../read-text.ts";
import {
  CommandFailure,
  explainInterrupt,
  type Terminal,
  toJson,
  UsageError,
} from "../terminal.ts";
import { withMessage } from "../with-message.ts";

interface Options extends ConnectionOptions {
  readonly preset?: NonNullable<CreateKeyBody["preset"]>;
  readonly scope?: NonNullable<CreateKeyBody["scopes"]>;
  readonly agent?: readonly string[];
  readonly expiresInDays?: number | null;
  readonly write?: string;
}

/** Adds `beckon keys create`. */
export function addKeysCreate(
  keys: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  const command = keys
    .command("create <name>")
    .summary("create a key of the workspace and print it once")
    .description(
      "Creates a key and prints it. This is the only time that it is shown. --write stores it in " +
        "a new file that only you can read, and prints nothing secret.",
    )
    .addOption(
      new Option("--preset <preset>", "a usual set of scopes")
        .choices(["invoke", "observer", "operator", "everything"])
        .conflicts("scope"),
    )
    .option("--scope <scope>", "a scope, for example runs:read; can be repeated", collect)
    .option("--agent <agent>", "limit the key to this agent; can be repeated", collect)
    .option("--expires-in-days <days>", "days, or never; 90 if omitted", days)
    .option("--write <file>", "write the key to a new file with mode 0600");
  withConnection(command).action(async (name: string, options: Options) => {
    const { preset, scope: scopes, agent, expiresInDays, write, json } = options;
    if (preset === undefined && scopes === undefined)
      throw new UsageError("There are no scopes. Give --preset, or --scope once or more.");
    const client = await connect(options, terminal);
    const { stopped } = terminal;
    const agentIds: string[] = [];
    for (const each of agent ?? []) agentIds.push(await findAgentId(client, each, stopped));
    const body = {
      name,
      ...(preset === undefined ? {} : { preset }),
      ...(scopes === undefined ? {} : { scopes }),
      ...(agent === undefined ? {} : { agent_ids: agentIds }),
      ...(expiresInDays === undefined ? {} : { expires_in_days: expiresInDays }),
    };
    const create = () => client.keys.create(body, { signal: stopped }).catch(explainLostKey);
    const created = write === undefined ? await create() : await createInto(write, create);
    const { key, ...rest } = created;
    if (write === undefined) {
      await terminal.out(`${json ? toJson(created) : key}\n`).catch((thrown) => {
        throw notWritten(created, "standard output", thrown);
      });
    } else if (json) await terminal.out(`${toJson(rest)}\n`);
    const expiry = created.expires_at === null ? "never expires" : `expires ${created.expires_at}`;
    if (!json) terminal.err(`Key ${created.id} ${expiry}.\n`);
    finish(exitCodes.done);
  });
}

function days(text: string): number | null {
  if (text === "never") return null;
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of days, 1 or more, or never.");
}

const keyIsLost =
  "If the key was created, it cannot be shown again. Revoke it in the dashboard, and create another.";

function explainLostKey(thrown: unknown): never {
  if (thrown instanceof BeckonError && thrown.idempotencyKey !== undefined)
    throw withMessage(thrown, `${thrown.message.replace(/\.?$/, ".")} ${keyIsLost}`);
  return explainInterrupt(keyIsLost)(thrown);
}

/**
 * Creates a key and writes it to a new file. The file is created before the key, because a key that
 * cannot be written would be lost. If the key is not created or not written, the file is deleted.
 * @throws CommandFailure if the key was created but not written
 */
async function createInto(
  path: string,
  create: () => Promise<CreateKeyAnswer>,
): Promise<CreateKeyAnswer> {
  const file = await createFile(path);
  let created: CreateKeyAnswer | undefined;
  try {
    created = await create();
    await file.writeFile(`${created.key}\n`);
    return created;
  } catch (thrown) {
    // If the file cannot be deleted, that error is ignored. The error that is thrown below is more
    // important, because it can name the key that was created.
    await unlink(path).catch(() => {});
    if (created === undefined) throw thrown;
    throw notWritten(created, path, thrown);
  } finally {
    await file.close();
  }
}

function notWritten({ id }: CreateKeyAnswer, target: string, thrown: unknown): CommandFailure {
  return new CommandFailure(
    "not_written",
    exitCodes.failed,
    `The key ${id} was created, but ${target} cannot be written (${codeOf(thrown)}). ` +
      "Revoke the key in the dashboard, and create another.",
  );
}

async function createFile(path: string) {
  try {
    return await open(path, "wx", 0o600);
  } catch (thrown) {
    const code = codeOf(thrown);
    throw new UsageError(
      code === "EEXIST"
        ? `${path} exists already. Name a new file.`
        : `${path} cannot be created (${code}). Name a file in a folder that you can write.`,
    );
  }
}

import { failoverStatements } from "./abandoned-statement.ts";
import { appendStatements } from "./append-statement.ts";
import { cancelStatement } from "./cancel-statement.ts";
import { claimStatements } from "./claim-statement.ts";
import { expireStatement } from "./expire-queued-statement.ts";
import { startStatements } from "./start-statement.ts";

/** The statements that write runs, in every form they are sent in, as SQL to review. */
export function statementsText(): string {
  const all = [...startStatements(), ...appendStatements, cancelStatement, expireStatement, ...claimStatements, ...failoverStatements];
  return all.map(({ name, text }) => `-- ${name}\n${text.trim().replace(/ +$/gm, "")};\n`).join("\n");
}

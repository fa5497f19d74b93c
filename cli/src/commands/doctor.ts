import type { Finding } from "@beckon/server/diagnose";
import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { shown, type Terminal, toJson, unlessStopped } from "../terminal.ts";

/** Adds `beckon doctor`. */
export function addDoctor(
  program: Command,
  terminal: Terminal,
  finish: (exitCode: number) => void,
): void {
  program
    .command("doctor")
    .summary("check configuration, database, clock, egress and providers")
    .description(
      "Checks what `beckon start` needs, with the same environment variables, and changes " +
        "nothing: configuration, database, clock, egress and providers. Each finding has its " +
        "remedy. Exits with 0 if there is no problem, with the exit code that the start would " +
        "have, or with 1 if the start would succeed despite the problem.",
    )
    .option("--json", "print JSON")
    .action(async ({ json }: { readonly json?: true }) => {
      // Imported dynamically, so that other commands do not load the server.
      const { diagnose } = await import("@beckon/server/diagnose");
      const findings = await unlessStopped(diagnose(terminal.env), terminal.stopped);
      if (json) await terminal.out(`${toJson({ findings })}\n`);
      else await terminal.out(shown(findings.map(toText).join(""), terminal));
      finish(exitCodeOf(findings));
    });
}

const marks = { ok: "ok      ", warning: "WARNING ", problem: "PROBLEM ", skipped: "skipped " };

function toText({ area, status, message, remedy }: Finding): string {
  const line = `${marks[status]} ${area.padEnd(13)} ${message}\n`;
  return remedy === null ? line : `${line}${" ".repeat(23)}→ ${remedy}\n`;
}

function exitCodeOf(findings: readonly Finding[]): number {
  const problems = findings.filter(({ status }) => status === "problem");
  if (problems.length === 0) return exitCodes.done;
  return problems.find(({ exitCode }) => exitCode !== undefined)?.exitCode ?? exitCodes.failed;
}

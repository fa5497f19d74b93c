import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Argument, Command, Option } from "commander";
import { afterAll, expect, test } from "vitest";
import { describe as describeCommands } from "./describe.ts";
import { completionScript, type Shell, shells } from "./scripts.ts";

const program = new Command("beckon").helpOption("-h, --help").helpCommand(false);
const runs = program.command("runs").summary("runs of agents");
runs.command("tail [run]").summary("a run's events").option("--key-file <file>", "file: the key");
program
  .command("keys")
  .summary("keys")
  .addOption(new Option("--preset <preset>", "scopes").choices(["invoke", "observer"]));
program
  .command("completion")
  .summary("completion")
  .addArgument(new Argument("<shell>").choices(shells));
program.command("restore [folder]").summary("restore a backup");
const commands = describeCommands(program);

const folder = mkdtempSync(join(tmpdir(), "beckon-completion-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Shell code that completes the last of `words`, and prints one candidate per line. */
const completing: Record<Shell, (script: string, words: readonly string[]) => string> = {
  bash: (script, words) =>
    `source ${script}; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; ` +
    `_beckon; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // zsh's own completion functions, such as `_files`, work only in its line editor. They are
  // replaced by functions that print the candidates.
  zsh: (script, words) =>
    `compdef() { }; _files() { print -- "<files>" }; compadd() { shift; print -l -- "$@" }; ` +
    `_describe() { print -l -- \${(P)2} }; source ${script}; ` +
    `words=(${quoted(words)}); CURRENT=${words.length}; _beckon`,
  fish: (script, words) => `source ${script}; complete -C '${words.join(" ")}'`,
};
const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

function isInstalled(shell: Shell): boolean {
  try {
    execFileSync(shell, ["-c", "true"], { stdio: "ignore" });
    return true;
  } catch {
    console.log(`${shell} is not installed, so its completion is not tested.`);
    return false;
  }
}

for (const shell of shells) {
  test.skipIf(!isInstalled(shell))(`${shell} completes commands, options and their values`, () => {
    const script = join(folder, `beckon.${shell}`);
    writeFileSync(script, completionScript(shell, commands));
    const noSettings = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] }[shell];
    const complete = (...words: string[]) =>
      execFileSync(shell, [...noSettings, "-c", completing[shell](script, words)], {
        cwd: folder,
        encoding: "utf8",
      })
        .split("\n")
        .map((line) => line.replace(/[\t:].*$/, ""))
        .filter((line) => line !== "");
    expect(complete("beckon", "")).toEqual(expect.arrayContaining(["runs", "keys", "completion"]));
    expect(complete("beckon", "runs", "")).toContain("tail");
    expect(complete("beckon", "runs", "")).not.toContain("keys");
    expect(complete("beckon", "runs", "tail", "--k")).toContain("--key-file");
    expect(complete("beckon", "keys", "--preset", "")).toEqual(["invoke", "observer"]);
    expect(complete("beckon", "completion", "")).toEqual(expect.arrayContaining(["fish", "zsh"]));
    const files = complete("beckon", "runs", "tail", "--key-file", "");
    expect(files.join()).toMatch(/<files>|beckon\./);
    expect(complete("beckon", "restore", "").join()).toMatch(/<files>|beckon\./);
    expect(complete("beckon", "keys", "").join()).not.toMatch(/<files>|beckon\./);
  });
}

test("bash keeps names of files with spaces whole, and treats only files as files", () => {
  const inside = mkdtempSync(join(folder, "files-"));
  mkdirSync(join(inside, "runs"));
  writeFileSync(join(inside, "a backup"), "");
  const script = join(folder, "beckon.sh");
  writeFileSync(script, completionScript("bash", commands));
  const complete = (...words: string[]) => {
    const code = `compopt() { echo "compopt $*"; }; ${completing.bash(script, words)}`;
    return execFileSync("bash", ["--norc", "-c", code], { cwd: inside, encoding: "utf8" });
  };
  for (const words of [["restore"], ["runs", "tail", "--key-file"]])
    expect(complete("beckon", ...words, "a")).toBe("compopt -o filenames\na backup\n");
  // With `filenames`, bash would add a slash to this command, because there is a folder `runs`.
  expect(complete("beckon", "ru")).toBe("runs\n");
  const options = execFileSync("bash", ["--norc", "-c", `source ${script}; complete -p beckon`]);
  expect(String(options)).toBe("complete -F _beckon beckon\n");
});

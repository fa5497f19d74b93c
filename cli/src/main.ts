/**
 * Entry point of the command `beckon`. With `beckon start`, this process is the parent process of
 * the servers and loads no other command. The other commands load the server's code only if needed.
 */
const [command, ...rest] = process.argv.slice(2);

if (command === "help" && rest[0] === "start") {
  const { startFromCommandLine } = await import("@beckon/server/start");
  process.exitCode = await startFromCommandLine(["--help"], "beckon start");
} else if (command === undefined || command === "start") {
  const { startFromCommandLine } = await import("@beckon/server/start");
  process.exitCode = await startFromCommandLine(rest, "beckon start");
} else {
  const { openTerminal } = await import("./terminal.ts");
  const { run } = await import("./run.ts");
  // Exits explicitly, because work that Ctrl-C interrupted can still hold connections open. All
  // output has been written.
  process.exit(await run(process.argv.slice(2), openTerminal()));
}

/**
 * Entry point of the command `beckon`. The server is started by this process, so a start loads
 * nothing of the other commands, and these load nothing of the server.
 */
const [command, ...rest] = process.argv.slice(2);

if (command === undefined || command === "start") {
  const { startFromCommandLine } = await import("@beckon/server/start");
  process.exitCode = await startFromCommandLine(rest, "beckon start");
} else {
  const { openTerminal } = await import("./terminal.ts");
  const { run } = await import("./run.ts");
  // All output is written. Work that Ctrl-C has ended can still hold connections.
  process.exit(await run(process.argv.slice(2), openTerminal()));
}

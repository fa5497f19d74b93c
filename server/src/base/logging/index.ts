export {
  type LogLevel,
  type LogLevels,
  logAreas,
  logLevels,
  parseLogLevels,
} from "./levels.ts";
export {
  type FieldKind,
  type LineSpec,
  type LogFields,
  type LogLineName,
  logLines,
} from "./lines.ts";
export { OutageLog } from "./outage-log.ts";
export { droppedLogLines, flushLogs, type LogOutput, standardOutput } from "./output.ts";
export { prettyOutput } from "./pretty.ts";

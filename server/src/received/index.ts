export { type CaptureInput, captureRequest } from "./capture-statement.ts";
export type { ReceivedRequestRow, SettingsCheck } from "./received-request.ts";
export { createRecorder, type Recorder } from "./recorder.ts";

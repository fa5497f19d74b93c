export { type CaptureInput, captureRequest } from "./capture-statement.ts";
export { reEncryptSenderSecrets } from "./re-encrypt-secrets.ts";
export type { ReceivedRequestRow, SettingsCheck } from "./received-request.ts";
export { createRecorder, type Recorder } from "./recorder.ts";
export { bindingOfSenderSecret } from "./secret-binding.ts";
export {
  readTriggerOfToken,
  type TriggerOfToken,
  type TriggerSettings,
} from "./trigger-settings.ts";

export { outputBoundOf, outputBoundOption } from "./cap-output.ts";
export { demoEcho, demoEchoName } from "./demo-echo.ts";
export { openAICompatibleModel } from "./openai-compatible.ts";
export { providerModel } from "./provider-model.ts";

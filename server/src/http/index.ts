export { countFailedAuthentications } from "./failed-authentications.ts";
export { type Listening, listen } from "./listen.ts";
export type { Services } from "./services.ts";

export { countFailedAuthentications } from "./failed-authentications.ts";
export { listen } from "./listen.ts";

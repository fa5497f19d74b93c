export { LateListener } from "./late-listener.ts";

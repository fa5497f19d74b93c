export { fireCors, handleFire, handleFireOptions } from "./fire.ts";
export { createHints } from "./hints.ts";
export { handleInvoke } from "./invoke.ts";

export { createDashboard, pagePaths, rootFiles } from "./serve.ts";

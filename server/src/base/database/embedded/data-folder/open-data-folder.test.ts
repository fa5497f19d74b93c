import { expect, test } from "vitest";
import { dataFolderRemedy } from "./open-data-folder.ts";

test.each([
  ["EROFS", "It is read-only here, for example by ProtectSystem= of systemd"],
  ["EACCES", "Make it writable for this user"],
])("%s: the remedy for a data folder fits the error", (code, remedy) => {
  expect(dataFolderRemedy(Object.assign(new Error(), { code }))).toContain(remedy);
});

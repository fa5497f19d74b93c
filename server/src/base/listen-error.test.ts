import { expect, test } from "vitest";
import { exitCodes } from "./exit-codes.ts";
import { listenError } from "./listen-error.ts";

test.each([
  ["EADDRINUSE", exitCodes.invalidConfiguration, /set PORT to another port\.$/],
  ["EACCES", exitCodes.invalidConfiguration, /Set PORT to 1024 or higher, and put a proxy in/],
  ["EINVAL", exitCodes.invalidConfiguration, /Set HOST and PORT to an address of this machine\.$/],
  ["EADDRNOTAVAIL", exitCodes.addressUnavailable, /Set HOST.*, or start again once this one is/],
  ["EAI_AGAIN", exitCodes.addressUnavailable, /Set HOST.*, or start again once this one is/],
])("%s: the exit code says whether a later start can succeed", (code, exitCode, message) => {
  const thrown = Object.assign(new Error("it failed"), { code });
  expect(listenError(thrown, { host: "10.8.0.1", port: 3000 })).toMatchObject({
    exitCode,
    message: expect.stringMatching(message),
  });
});

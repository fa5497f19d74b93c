import { expect, test } from "vitest";
import { findUnknownSettings } from "./find-unknown-settings.ts";

const known = ["PORT", "BECKON_ROLE", "BECKON_PROCESSES", "BECKON_MASTER_KEY"];
const unknown = (env: Record<string, string>) => findUnknownSettings(env, known);

test.each(["BECKON_PROCESES", "BECKON_PROCESSSES", "BECKON_PORCESSES", "BECKON_PROCESS"])(
  "%s is a typing error of BECKON_PROCESSES",
  (name) => {
    expect(unknown({ [name]: "2" })).toEqual([{ name, nearest: "BECKON_PROCESSES", isTypo: true }]);
  },
);

test("a name that resembles no setting has a nearest one all the same", () => {
  expect(unknown({ BECKON_MASTER_KEY_FILE: "/run/secrets/key" })).toEqual([
    { name: "BECKON_MASTER_KEY_FILE", nearest: "BECKON_MASTER_KEY", isTypo: false },
  ]);
});

test("a setting of another prefix, written with BECKON_, is told its name", () => {
  expect(unknown({ BECKON_PORT: "8080" })).toEqual([
    { name: "BECKON_PORT", nearest: "PORT", isTypo: false },
  ]);
});

test("settings, empty values and names without the prefix are not unknown", () => {
  expect(unknown({ BECKON_ROLE: "api", BECKON_ROLF: "", PROT: "1", PATH: "/bin" })).toEqual([]);
});

test("variables that Kubernetes and Docker inject are ignored", () => {
  expect(
    unknown({
      BECKON_SERVICE_HOST: "10.0.0.11",
      BECKON_SERVICE_PORT: "3000",
      BECKON_SERVICE_PORT_HTTP: "3000",
      BECKON_PORT: "tcp://10.0.0.11:3000",
      BECKON_PORT_3000_TCP: "tcp://10.0.0.11:3000",
      BECKON_PORT_3000_TCP_ADDR: "10.0.0.11",
      BECKON_PORT_3000_TCP_PORT: "3000",
      BECKON_PORT_3000_TCP_PROTO: "tcp",
      BECKON_DB_SERVICE_HOST: "10.0.0.12",
      BECKON_DB_PORT: "tcp://10.0.0.12:5432",
      BECKON_NAME: "/web/beckon",
      BECKON_ENV_NODE_VERSION: "24",
    }),
  ).toEqual([]);
});

import { expect, test } from "vitest";
import { testDatabase } from "../database.ts";
import { checkUsage } from "./check-usage.ts";

const { database } = await testDatabase();

test("an answer of the model whose run is lost is a violation", async () => {
  const reported = new Map([["lost", [{ input: 10, output: 5 }]]]);
  const { broken } = await checkUsage(database.engine, { reported, modelCalls: new Map() });
  expect(broken).toEqual(["lost: the model answered, and there is no run"]);
});

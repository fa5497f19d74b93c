import { BeckonError } from "@beckon/client";
import { expect, test } from "vitest";
import { failureWords } from "./failure-of.ts";

const wordsOf = (status: number | undefined, code: string, message: string) =>
  failureWords(
    new BeckonError({ code, message, status }),
    "The agent was not duplicated.",
    "the agent was duplicated",
    "Duplicate it again before you change it: it is duplicated once only.",
  );

test("a rejected call is a failure", () => {
  expect(wordsOf(409, "conflict", "There are too many agents.")).toEqual({
    title: "The agent was not duplicated.",
    description: "There are too many agents.",
  });
});

test("a call whose response was lost is no certain failure", () => {
  expect(wordsOf(502, "unexpected_answer", "Bad gateway.")).toEqual({
    title: "The response was lost.",
    description:
      "Something other than Beckon responded. Check the proxies in front of it. It is not known whether the agent was duplicated. Duplicate it again before you change it: it is duplicated once only.",
  });
});

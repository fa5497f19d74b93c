import { expect, test } from "vitest";
import { importProblems } from "./import-errors.ts";

const yaml = `beckon: 1
agents:
- name: Orders
  model: demo/echo
  instructions: |
    - name: not an agent
    Be brief.
- name: Refunds
  model: demo
  tools:
  - type: http
    name: shop
`;

const json = JSON.stringify(
  { beckon: 1, agents: [{ name: "Orders" }, { name: "Refunds", model: "demo" }] },
  null,
  2,
);

test("each problem names its agent and the line of its field", () => {
  const message =
    "agents.1.model must be provider/model; agents.1.tools.0.name is taken; unknown field agents.0.colour.";
  expect(importProblems(message, yaml)).toEqual([
    { where: "Agent 2", message: "model must be provider/model", line: 9 },
    { where: "Agent 2", message: "tools.0.name is taken", line: 8 },
    { where: "Agent 1", message: "unknown field colour.", line: 3 },
  ]);
  expect(importProblems("agents.1.model must be provider/model.", json)[0]?.line).toBe(9);
});

test("a problem of a whole agent leads to its first line", () => {
  const message = "agents.1 (Refunds): there is no provider demo.";
  expect(importProblems(message, yaml)).toEqual([
    { where: "Agent 2", message: "“Refunds”: there is no provider demo.", line: 8 },
  ]);
});

test("an error of syntax has the line that the parser names", () => {
  const message = "The body is not valid YAML at line 4, column 2. Correct it.";
  expect(importProblems(message, yaml)).toEqual([{ where: undefined, message, line: 4 }]);
});

test("other problems are shown as they are", () => {
  for (const message of ["beckon must be 1.", "This request is too large."])
    expect(importProblems(message, yaml)).toEqual([{ where: undefined, message, line: undefined }]);
});

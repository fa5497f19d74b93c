import { role, roleScopes, scopes } from "@beckon/contract";
import { expect, test } from "vitest";
import { roleFor } from "./role-for.ts";

test("a missing permission names the lowest role that has it", () => {
  const upwards = role.options.toReversed();
  for (const scope of scopes)
    expect([scope, roleFor(scope)]).toEqual([
      scope,
      upwards.find((each) => roleScopes[each].includes(scope)),
    ]);
});

import { expect, test } from "vitest";
import { onOneLine } from "./on-one-line.ts";

test("only whitespace outside of strings is removed", () => {
  expect(onOneLine('{\n  "a b": [1, 2],\r\n\t"c": "d  \\" e\\\\" , "f": " g "\n}\n')).toBe(
    '{"a b":[1,2],"c":"d  \\" e\\\\","f":" g "}',
  );
});

test("numbers stay as they were typed", () => {
  expect(onOneLine('{"order_id": 9007199254740993, "price": 1.10}')).toBe(
    '{"order_id":9007199254740993,"price":1.10}',
  );
});

test("text that is not JSON has no line", () => {
  expect(onOneLine('{"order_id": }')).toBeUndefined();
  expect(onOneLine("")).toBeUndefined();
});

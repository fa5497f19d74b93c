import { createFormControl } from "react-hook-form";
import { expect, test } from "vitest";
import { fillIn } from "./fill-in.ts";

/** Returns a form with an edited name. Its `resetOptions` make `reset` keep edits by default. */
function editedForm() {
  const form = createFormControl<{ name: string; note: string }>({
    resetOptions: { keepDirtyValues: true },
  });
  form.reset({ name: "Saved", note: "" });
  form.setValue("name", "Typed", { shouldDirty: true });
  return form;
}
const isDirty = (form: ReturnType<typeof editedForm>, name: "name" | "note") =>
  form.getFieldState(name).isDirty;

test("without sent values, all edits are discarded", () => {
  const form = editedForm();
  fillIn(form, { name: "Saved", note: "" });
  expect(form.getValues()).toEqual({ name: "Saved", note: "" });
  expect(isDirty(form, "name")).toBe(false);
});

test("a sent field shows what the server has saved", () => {
  const form = editedForm();
  fillIn(form, { name: "Trimmed", note: "Theirs" }, { name: "Typed", note: "" });
  expect(form.getValues()).toEqual({ name: "Trimmed", note: "Theirs" });
  expect(isDirty(form, "name")).toBe(false);
});

test("a field that was edited after the form was sent stays edited", () => {
  const form = editedForm();
  fillIn(form, { name: "Sent", note: "Theirs" }, { name: "Sent", note: "" });
  expect(form.getValues()).toEqual({ name: "Typed", note: "Theirs" });
  expect(isDirty(form, "name")).toBe(true);
  expect(isDirty(form, "note")).toBe(false);
});

import { beforeEach, expect, test } from "vitest";
import { clearingsSoFar, clearToasts, removeToast, shownToasts, showToast } from "./toasts.ts";

const titles = () => shownToasts().map(({ title }) => title);
const show = (title: string, mounted = clearingsSoFar()) => showToast({ title }, mounted);

beforeEach(clearToasts);

test("only the newest toasts stay on the page", () => {
  for (const title of ["1", "2", "3", "4"]) show(title);
  expect(titles()).toEqual(["2", "3", "4"]);
});

test("a toast is removed alone", () => {
  for (const title of ["1", "2"]) show(title);
  removeToast(shownToasts()[0]?.id ?? 0);
  expect(titles()).toEqual(["2"]);
});

test("what was mounted before the toasts were cleared shows none afterwards", () => {
  const mounted = clearingsSoFar();
  show("before", mounted);
  clearToasts();
  show("late", mounted);
  expect(titles()).toEqual([]);
  show("after");
  expect(titles()).toEqual(["after"]);
});

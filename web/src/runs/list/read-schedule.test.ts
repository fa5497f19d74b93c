import { expect, onTestFinished, test, vi } from "vitest";
import { createReadSchedule } from "./read-schedule.ts";

function startSchedule() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const tab = { hidden: false };
  vi.stubGlobal("document", tab);
  const read = vi.fn();
  const schedule = createReadSchedule();
  return { tab, read, schedule, request: () => schedule.request(2_000, read) };
}

test("requests are collected for a moment, and reads have a minimum distance", () => {
  const { read, request } = startSchedule();
  request();
  request();
  vi.advanceTimersByTime(200);
  expect(read).toHaveBeenCalledTimes(1);
  request();
  vi.advanceTimersByTime(1_999);
  expect(read).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(read).toHaveBeenCalledTimes(2);
});

test("a hidden tab reads nothing until it is shown", () => {
  const { tab, read, request, schedule } = startSchedule();
  request();
  tab.hidden = true;
  vi.advanceTimersByTime(60_000);
  request();
  vi.advanceTimersByTime(60_000);
  expect(read).not.toHaveBeenCalled();
  tab.hidden = false;
  schedule.show();
  schedule.show();
  vi.advanceTimersByTime(60_000);
  expect(read).toHaveBeenCalledTimes(1);
});

test("a request after the list was left reads nothing", () => {
  const { tab, read, request, schedule } = startSchedule();
  request();
  schedule.stop();
  request();
  tab.hidden = true;
  request();
  tab.hidden = false;
  schedule.show();
  vi.advanceTimersByTime(60_000);
  expect(read).not.toHaveBeenCalled();
});

test("a list that is shown again after it was left reads again", () => {
  const { read, request, schedule } = startSchedule();
  schedule.stop();
  schedule.start();
  request();
  vi.advanceTimersByTime(200);
  expect(read).toHaveBeenCalledTimes(1);
});

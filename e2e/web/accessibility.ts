import type { Page } from "playwright-core";
import { expect } from "vitest";
import { accessibilityFindings } from "./axe.ts";

/** Fails with everything that axe-core finds in the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await accessibilityFindings(page)).toEqual([]);
}

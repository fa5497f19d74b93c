import { afterAll } from "vitest";
import { closeProfiles } from "../server/test/browser.ts";
import { stopProducts } from "./product.ts";

/**
 * Vitest runs this file before every test file of this folder. A hook in `product.ts` itself would
 * run for the first test file of a process only, because test files share processes and modules.
 */

afterAll(closeProfiles);
afterAll(stopProducts);

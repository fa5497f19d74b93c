import { afterAll } from "vitest";
import { stopProducts } from "./product.ts";

/** Runs before every file of this folder, also before those that share a process with others. */

afterAll(stopProducts);

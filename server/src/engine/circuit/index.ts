export { type Circuit, circuitPolicy, type Pass } from "./circuit.ts";
export { type Circuits, createCircuits, type OutageListener } from "./circuits.ts";

export { circuitPolicy, type Pass } from "./circuit.ts";
export { type Circuit, type Circuits, createCircuits, type OutageListener } from "./circuits.ts";

export { type Circuit, circuitPolicy } from "./circuit.ts";
export { type Circuits, createCircuits } from "./circuits.ts";

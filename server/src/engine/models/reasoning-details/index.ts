export { detailsExtractor, withKeptDetails, withKeptStreamedDetails } from "./keep-details.ts";
export { sendDetails } from "./send-details.ts";

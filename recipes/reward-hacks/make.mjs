// `node recipes/reward-hacks/make.mjs`: makes the start policy from texts of scripted players.
import { storeStart } from "../start-policy.mjs";
import { startSettings } from "./start-settings.mjs";

await storeStart(await startSettings());

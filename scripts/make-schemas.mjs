// Writes schemas/*.json from the zod schemas: `npm run schemas`.
import { mkdirSync, writeFileSync } from "node:fs";
import { jsonSchemas } from "../dist/runs/json-schemas.js";

const folder = process.argv[2] ?? "schemas";
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(jsonSchemas())) {
  writeFileSync(`${folder}/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
}

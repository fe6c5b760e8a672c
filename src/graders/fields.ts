/** Reads the templates of a grader's fields. */

import { dataError } from "../core/errors.ts";
import { type ObjectText, readTemplate, type Template, TemplateError } from "./template.ts";

export function templateField(
  text: string,
  field: string,
  {
    where,
    settings,
  }: { readonly where: string; readonly settings: { readonly objects: ObjectText } },
): Template {
  try {
    return readTemplate(text, settings.objects);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw dataError(`${where}: ${field}: ${error.message}`, error.hint);
  }
}

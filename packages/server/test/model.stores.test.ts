// Random calls and a model of the service: a small run for `npm test`.
import { testModel } from "./model/test-model.ts";

testModel({ onSqlite: 25, onPostgresql: 12 });

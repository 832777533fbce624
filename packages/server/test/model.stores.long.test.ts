// Random calls and a model of the service: at full size.
import { testModel } from "./model/test-model.ts";

testModel({ onSqlite: 1_000, onPostgresql: 60 });

// Uses the client that oapi-codegen has generated.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"generated/halyard"
)

func check(ok bool, what string, more any) {
	if !ok {
		panic(fmt.Sprintf("%s: %+v", what, more))
	}
}

func must[T any](value T, err error) T {
	check(err == nil, "error", err)
	return value
}

func main() {
	ctx := context.Background()
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("HALYARD_API_KEY"))
		return nil
	}
	client := must(halyard.NewClientWithResponses(os.Getenv("HALYARD_URL"), halyard.WithRequestEditorFn(key)))

	percentage := float32(12.345)
	once := "go"
	made := must(client.CreateFlagWithResponse(ctx, &halyard.CreateFlagParams{IdempotencyKey: &once}, halyard.CreateFlagJSONRequestBody{
		Key: "generated", Type: halyard.CreateFlagJSONBodyTypeRollout, Percentage: &percentage,
	}))
	check(made.JSON201 != nil, "create", string(made.Body))
	flag := must(made.JSON201.AsRolloutFlag())
	check(flag.Percentage == percentage, "percentage", flag)

	on, tag := true, made.HTTPResponse.Header.Get("ETag")
	changed := must(client.UpdateFlagWithResponse(ctx, "generated", &halyard.UpdateFlagParams{IfMatch: &tag}, halyard.UpdateFlagJSONRequestBody{Enabled: &on}))
	check(changed.JSON200 != nil, "change", string(changed.Body))
	stale := must(client.UpdateFlagWithResponse(ctx, "generated", &halyard.UpdateFlagParams{IfMatch: &tag}, halyard.UpdateFlagJSONRequestBody{Enabled: &on}))
	check(stale.JSON412 != nil && stale.JSON412.Error == halyard.PRECONDITIONFAILED, "stale", string(stale.Body))
	list := must(client.ListFlagsWithResponse(ctx, &halyard.ListFlagsParams{}))
	check(len(*list.JSON200) == 1, "list", string(list.Body))

	in := halyard.Condition{}
	check(in.FromAttributeCondition(halyard.AttributeCondition{Attribute: "plan", Op: "in", Values: &[]any{"pro"}}) == nil, "condition", in)
	serve, value, otherwise := halyard.Rule_Serve{}, halyard.VariantValue{}, halyard.CreateFlagJSONBody_Otherwise{}
	check(serve.FromRuleServe0("blue") == nil && value.FromVariantValue0("#00f") == nil && otherwise.FromCreateFlagJSONBodyOtherwise0("blue") == nil, "unions", serve)
	texts, blue := halyard.CreateFlagJSONBodyValueTypeString, "blue"
	colour := must(client.CreateFlagWithResponse(ctx, &halyard.CreateFlagParams{}, halyard.CreateFlagJSONRequestBody{
		Key: "colour", Type: halyard.CreateFlagJSONBodyTypeVariant, ValueType: &texts, Off: &blue, Otherwise: &otherwise,
		Variants: &map[string]halyard.VariantValue{"blue": value},
		Rules:    &[]halyard.Rule{{When: in, Serve: serve}},
	}))
	check(colour.JSON201 != nil, "variants", string(colour.Body))
	kind := must(colour.JSON201.ValueByDiscriminator())
	variants := kind.(halyard.VariantFlag)
	check(must(variants.Variants["blue"].AsVariantValue0()) == "#00f", "value", variants)
	when := must((*variants.Rules)[0].When.AsAttributeCondition())
	check(when.Attribute == "plan", "rule", when)
	check(must(client.DeleteFlagWithResponse(ctx, "colour", &halyard.DeleteFlagParams{})).StatusCode() == 204, "delete", nil)

	user := "user-1"
	body := halyard.EvaluateFlagJSONRequestBody{}
	body.Context.TargetingKey = &user
	one := must(client.EvaluateFlagWithResponse(ctx, "generated", body))
	check(one.JSON200 != nil && one.JSON200.Reason == "SPLIT", "evaluate", string(one.Body))
	missing := must(client.EvaluateFlagWithResponse(ctx, "missing", body))
	check(missing.JSON404 != nil && missing.JSON404.ErrorCode == "FLAG_NOT_FOUND", "missing", string(missing.Body))
	everyone := halyard.EvaluateFlagsJSONRequestBody{}
	everyone.Context.TargetingKey = &user
	everything := must(client.EvaluateFlagsWithResponse(ctx, &halyard.EvaluateFlagsParams{}, everyone))
	check(everything.JSON200 != nil && len(everything.JSON200.Flags) == 1, "evaluate all", string(everything.Body))

	hook := must(client.CreateWebhookWithResponse(ctx, &halyard.CreateWebhookParams{}, halyard.CreateWebhookJSONRequestBody{
		Url: "http://127.0.0.1:9/", Events: []string{"*"},
	}))
	check(hook.JSON201 != nil, "webhook", string(hook.Body))
	sent := must(client.TestWebhookWithResponse(ctx, hook.JSON201.Id, &halyard.TestWebhookParams{}, halyard.TestWebhookJSONRequestBody{}))
	check(sent.JSON202 != nil && sent.JSON202.Kind == "test", "test", string(sent.Body))
	delivery := must(client.GetDeliveryWithResponse(ctx, hook.JSON201.Id, sent.JSON202.Id))
	check(delivery.JSON200 != nil && delivery.JSON200.Request.Method == "POST", "delivery", string(delivery.Body))
	rotated := must(client.RotateSecretWithBodyWithResponse(ctx, hook.JSON201.Id, &halyard.RotateSecretParams{}, "application/json", nil))
	check(rotated.JSON200 != nil, "rotate", string(rotated.Body))

	removed := must(client.DeleteFlagWithResponse(ctx, "generated", &halyard.DeleteFlagParams{}))
	check(removed.StatusCode() == 204, "delete", string(removed.Body))
	gone := must(client.GetFlagWithResponse(ctx, "generated", &halyard.GetFlagParams{}))
	check(gone.JSON404 != nil && gone.JSON404.Error == halyard.NOTFOUND, "gone", string(gone.Body))
	fmt.Println("used")
}

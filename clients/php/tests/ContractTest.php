<?php

declare(strict_types=1);

namespace HealthInterop\Tests;

use HealthInterop\Exception\ServiceException;
use HealthInterop\Exception\ValidationException;
use HealthInterop\Internal\CallOptions;
use HealthInterop\ServiceClient;
use HealthInterop\Tests\Support\Vectors;
use PHPUnit\Framework\TestCase;

/** The library exposes exactly what clients/contract.json names. */
final class ContractTest extends TestCase
{
    private const KINDS = [
        'string' => 'string', 'healthId' => 'string', 'integer' => 'int', 'list' => 'array', 'object' => 'array',
        'map' => 'array', 'bundle' => 'array', 'bytes' => 'mixed', 'secrets' => 'mixed', 'payload' => 'object|array|string',
    ];

    public function testTheOptionsOfAClientAreThoseOfTheContract(): void
    {
        $parameters = (new \ReflectionMethod(ServiceClient::class, '__construct'))->getParameters();
        $options = [];
        foreach ($parameters as $parameter) {
            $options[$parameter->getName()] = !$parameter->isOptional();
        }
        $mine = array_filter(self::contract()['client']['options'], static fn (array $option): bool => in_array('php', $option['languages'] ?? ['php'], true));
        $expected = array_column($mine, 'required', 'name');
        self::assertEqualsCanonicalizing(array_keys($expected), array_keys($options));
        foreach ($expected as $name => $required) {
            self::assertSame($required, $options[$name], $name);
        }
    }

    public function testTheOptionsOfACallAreThoseOfTheContract(): void
    {
        $expected = self::contract()['client']['callOptions'];
        try {
            CallOptions::of(['other' => 1]);
        } catch (ValidationException $error) {
            self::assertStringContainsString(': ' . implode(', ', $expected) . '.', $error->getMessage());
        }
        self::assertEqualsCanonicalizing($expected, array_keys(get_object_vars(CallOptions::of(['timeout' => 1, 'maxRetries' => 0]))));
    }

    public function testTheClientHasTheModulesPropertiesAndMethodsOfTheContract(): void
    {
        $class = new \ReflectionClass(ServiceClient::class);
        $properties = array_map(static fn ($property): string => $property->getName(), $class->getProperties(\ReflectionProperty::IS_PUBLIC));
        self::assertEqualsCanonicalizing(array_keys(self::contract()['modules']), $properties);
        preg_match_all('/@property-read \S+ \$(\w+)/', (string) $class->getDocComment(), $read);
        self::assertSame(self::contract()['client']['properties'], $read[1]);
        $methods = self::methods($class);
        self::assertSame(array_keys(self::contract()['client']['methods']), array_keys($methods));
        self::assertSame(['method', 'path', 'options'], array_map(static fn ($parameter): string => $parameter->getName(), $methods['request']->getParameters()));
    }

    public static function modules(): iterable
    {
        foreach (self::contract()['modules'] as $name => $methods) {
            yield $name => [$name, $methods];
        }
    }

    /** @dataProvider modules */
    public function testModule(string $name, array $expected): void
    {
        $module = new \ReflectionClass('HealthInterop\\' . ucfirst($name));
        self::assertSame($module->getName(), (string) (new \ReflectionProperty(ServiceClient::class, $name))->getType());
        $methods = self::methods($module);
        self::assertEqualsCanonicalizing(array_keys($expected), array_keys($methods));
        foreach ($expected as $method => $statement) {
            $this->compare($methods[$method], $statement, $expected);
        }
    }

    public function testTheErrorsAreThoseOfTheContract(): void
    {
        $errors = self::contract()['errors'];
        $expected = [$errors['base']['php']];
        foreach ($errors['classes'] as $class) {
            $name = Vectors::exceptionClass($class['name']);
            $expected[] = substr($name, strlen('HealthInterop\\Exception\\'));
            $parent = isset($class['extends']) ? Vectors::exceptionClass($class['extends']) : ServiceException::class;
            self::assertSame($parent, get_parent_class($name));
            self::assertSame(isset($class['reasons']), property_exists($name, 'reason'));
            if (isset($class['reasons'])) {
                $doc = (string) (new \ReflectionMethod($name, '__construct'))->getDocComment();
                preg_match_all("/'(\w+)'/", $doc, $reasons);
                self::assertSame($class['reasons'], $reasons[1]);
            }
        }
        $files = array_map(static fn (string $file): string => basename($file, '.php'), glob(dirname(__DIR__) . '/src/Exception/*.php') ?: []);
        self::assertEqualsCanonicalizing($expected, $files);
        $properties = array_map(static fn ($property): string => $property->getName(), (new \ReflectionClass(ServiceException::class))->getProperties(\ReflectionProperty::IS_PUBLIC));
        self::assertEqualsCanonicalizing($errors['properties'], [...$properties, 'message']);
    }

    public function testThePackageHasTheNameVersionAndNeedsThatItStates(): void
    {
        $package = Vectors::read('php/composer.json');
        self::assertSame(self::contract()['package']['php'], $package['name']);
        self::assertSame(self::contract()['version'], ServiceClient::VERSION);
        self::assertSame(['php', 'ext-curl', 'ext-json'], array_keys($package['require']));
    }

    private function compare(\ReflectionMethod $method, array $statement, array $module): void
    {
        $where = "{$method->class}::{$method->name}";
        $source = isset($statement['iterates']) ? $module[$statement['iterates']] : $statement;
        $sends = isset($statement['path']) || $statement['returns'] === 'iterator';
        $names = [];
        foreach ($method->getParameters() as $parameter) {
            $names[$parameter->getName()] = $parameter;
        }
        self::assertSame([...array_column($source['parameters'], 'name'), ...($sends ? ['options'] : [])], array_keys($names), $where);
        foreach ($source['parameters'] as $expected) {
            $parameter = $names[$expected['name']];
            $required = $expected['required'] || in_array($expected['name'], $statement['required'] ?? [], true);
            self::assertSame($required, !$parameter->isOptional(), "$where \${$expected['name']}");
            // A missing header is a reason of its own, not a TypeError.
            $kind = $expected['name'] === 'header' ? 'mixed' : self::KINDS[$expected['type']];
            self::assertSame($kind, ltrim((string) $parameter->getType(), '?'), "$where \${$expected['name']}");
            self::assertSame($expected['default'] ?? null, $parameter->isOptional() ? $parameter->getDefaultValue() ?: null : null, "$where \${$expected['name']}");
        }
        $returns = ['iterator' => 'Generator', 'none' => 'void', 'string' => 'string'][$statement['returns']] ?? 'array';
        self::assertSame($returns, (string) $method->getReturnType(), $where);
        self::assertStringContainsString("     * {$statement['summary']}.\n", (string) $method->getDocComment(), $where);
    }

    /** @return array<string, \ReflectionMethod> Public methods that are neither magic nor internal */
    private static function methods(\ReflectionClass $class): array
    {
        $methods = [];
        foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
            if (!str_starts_with($method->getName(), '__')) {
                $methods[$method->getName()] = $method;
            }
        }
        return $methods;
    }

    private static function contract(): array
    {
        return Vectors::read('contract.json');
    }
}
